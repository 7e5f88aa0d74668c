// Copyright 2026 repsq_ros maintainers
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

/* Draws markers as RViz 2 does, by its own rendering library, without a window or ROS.
 *
 *     draw_markers DISTANCE [SCENE PICTURE.png WIDTH HEIGHT]...
 *
 * The camera is DISTANCE [m] straight above the origin, x to the right. A scene is a file of
 * lines, one a marker, written by test/support/rviz_pictures.py. For each text, one line on
 * standard output: "ink", scene, left, top, right, bottom [pixels] of what is drawn of it.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <OgreCamera.h>
#include <OgreHardwarePixelBuffer.h>
#include <OgreLight.h>
#include <OgreRenderTexture.h>
#include <OgreRoot.h>
#include <OgreSceneManager.h>
#include <OgreSceneNode.h>
#include <OgreTextureManager.h>
#include <OgreViewport.h>

#include "rviz_rendering/objects/billboard_line.hpp"
#include "rviz_rendering/objects/movable_text.hpp"
#include "rviz_rendering/objects/point_cloud.hpp"
#include "rviz_rendering/objects/shape.hpp"
#include "rviz_rendering/render_system.hpp"

using rviz_rendering::BillboardLine;
using rviz_rendering::MovableText;
using rviz_rendering::PointCloud;
using rviz_rendering::Shape;

namespace
{

const Ogre::ColourValue BACKGROUND(32 / 255.0f, 34 / 255.0f, 38 / 255.0f);

Ogre::Vector3 vector_of(std::istream & in)
{
  Ogre::Vector3 v;
  in >> v.x >> v.y >> v.z;
  return v;
}

Ogre::ColourValue colour_of(std::istream & in)
{
  Ogre::ColourValue c;
  in >> c.r >> c.g >> c.b >> c.a;
  return c;
}

class Scene
{
public:
  Scene()
  : manager_(rviz_rendering::RenderSystem::get()->getOgreRoot()->createSceneManager())
  {
    manager_->setAmbientLight(Ogre::ColourValue(0.5f, 0.5f, 0.5f));
    Ogre::Light * light = manager_->createLight();
    light->setType(Ogre::Light::LT_DIRECTIONAL);
    light->setDiffuseColour(Ogre::ColourValue::White);
    Ogre::SceneNode * node = manager_->getRootSceneNode()->createChildSceneNode();
    node->setDirection(Ogre::Vector3(-1, 0, -1));
    node->attachObject(light);
  }

  void add(const std::string & line)
  {
    std::istringstream in(line);
    std::string kind;
    in >> kind;
    if (kind == "text") {
      add_text(in);
    } else if (kind == "list" || kind == "strip") {
      add_lines(in, kind == "strip");
    } else if (kind == "squares" || kind == "spheres") {
      add_points(in, kind == "squares");
    } else if (kind == "cube") {
      add_cube(in);
    }
    if (in.fail()) {
      std::fprintf(stderr, "not a marker: %s\n", line.c_str());
      std::exit(2);
    }
  }

  void draw(
    const std::string & name, const std::string & picture, float distance, unsigned width,
    unsigned height)
  {
    Ogre::Camera * camera = manager_->createCamera("camera");
    camera->setNearClipDistance(1.0f);
    camera->setFarClipDistance(100.0f);
    camera->setAspectRatio(static_cast<float>(width) / static_cast<float>(height));
    Ogre::SceneNode * above = manager_->getRootSceneNode()->createChildSceneNode();
    above->setPosition(0, 0, distance);  // looks along -z, y up
    above->attachObject(camera);

    Ogre::TexturePtr texture = Ogre::TextureManager::getSingleton().createManual(
      name, "rviz_rendering", Ogre::TEX_TYPE_2D, width, height, 0, Ogre::PF_BYTE_RGB,
      Ogre::TU_RENDERTARGET, nullptr, false, 4);
    Ogre::RenderTexture * target = texture->getBuffer()->getRenderTarget();
    target->setAutoUpdated(false);
    Ogre::Viewport * port = target->addViewport(camera);
    port->setOverlaysEnabled(false);
    port->setBackgroundColour(BACKGROUND);
    target->update();
    target->writeContentsToFile(picture);

    port->setBackgroundColour(Ogre::ColourValue::Black);
    root()->setVisible(false);
    std::vector<unsigned char> pixels(width * height * 3);
    Ogre::PixelBox box(width, height, 1, Ogre::PF_BYTE_RGB, pixels.data());
    // Three at a time: one in each colour.
    for (size_t first = 0; first < texts_.size(); first += 3) {
      const size_t end = std::min(first + 3, texts_.size());
      for (size_t k = first; k < end; ++k) {
        const float on[] = {k == first ? 1.0f : 0.0f, k == first + 1 ? 1.0f : 0.0f};
        texts_[k].text->setColor(Ogre::ColourValue(on[0], on[1], 1.0f - on[0] - on[1]));
        texts_[k].node->setVisible(true);
      }
      target->update();
      target->copyContentsToMemory(box, box);
      for (size_t k = first; k < end; ++k) {
        texts_[k].node->setVisible(false);
        print_ink(name, pixels.data() + (k - first), width, height);
      }
    }
    Ogre::TextureManager::getSingleton().remove(texture);
  }

private:
  struct ShownText
  {
    std::unique_ptr<MovableText> text;
    Ogre::SceneNode * node;
  };

  Ogre::SceneNode * root() {return manager_->getRootSceneNode();}

  void add_text(std::istream & in)
  {
    const Ogre::Vector3 place = vector_of(in);
    float height, blank;
    in >> height >> blank;
    const Ogre::ColourValue colour = colour_of(in);
    std::string caption;
    in.get();
    std::getline(in, caption);
    // In the order of RViz's TextViewFacingMarker.
    auto text = std::make_unique<MovableText>(caption);
    text->setTextAlignment(MovableText::H_CENTER, MovableText::V_CENTER);
    Ogre::SceneNode * node = root()->createChildSceneNode();
    node->attachObject(text.get());
    node->setPosition(place);
    if (blank != 0.0f) {
      text->setSpaceWidth(blank);
    }
    text->setCharacterHeight(height);
    text->setColor(colour);
    texts_.push_back({std::move(text), node});
  }

  void add_lines(std::istream & in, bool strip)
  {
    float width;
    unsigned count;
    in >> width;
    const Ogre::ColourValue colour = colour_of(in);
    in >> count;
    auto lines = std::make_unique<BillboardLine>(manager_, root()->createChildSceneNode());
    lines->setScale(Ogre::Vector3(width, 0, 0));
    lines->setColor(colour.r, colour.g, colour.b, colour.a);
    lines->clear();
    lines->setLineWidth(width);
    lines->setMaxPointsPerLine(strip ? count : 2);
    lines->setNumLines(strip ? 1 : count / 2);
    for (unsigned k = 0; k < count; ++k) {
      lines->addPoint(vector_of(in), colour);
      if (!strip && k % 2 == 1) {
        lines->finishLine();
      }
    }
    lines_.push_back(std::move(lines));
  }

  void add_points(std::istream & in, bool squares)
  {
    const Ogre::Vector3 size = vector_of(in);
    unsigned count;
    in >> count;
    auto cloud = std::make_unique<PointCloud>();
    root()->createChildSceneNode()->attachObject(cloud.get());
    cloud->setRenderMode(squares ? PointCloud::RM_SQUARES : PointCloud::RM_SPHERES);
    cloud->setDimensions(size.x, size.y, size.z);
    std::vector<PointCloud::Point> points(count);
    for (auto & point : points) {
      point.position = vector_of(in);
      const Ogre::ColourValue c = colour_of(in);
      point.setColor(c.r, c.g, c.b, c.a);
    }
    cloud->setAlpha(1.0f, false);
    cloud->addPoints(points.begin(), points.end());
    clouds_.push_back(std::move(cloud));
  }

  void add_cube(std::istream & in)
  {
    auto shape = std::make_unique<Shape>(Shape::Cube, manager_, root()->createChildSceneNode());
    const Ogre::Quaternion turn(Ogre::Degree(90), Ogre::Vector3::UNIT_X);
    shape->setPosition(vector_of(in));
    shape->setOrientation(turn);
    shape->setScale(turn * vector_of(in));
    const Ogre::ColourValue c = colour_of(in);
    shape->setColor(c.r, c.g, c.b, c.a);
    shapes_.push_back(std::move(shape));
  }

  static void print_ink(
    const std::string & name, const unsigned char * channel, int width, int height)
  {
    int left = width, top = height, right = -1, bottom = -1;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        if (channel[3 * (y * width + x)] > 64) {
          left = std::min(left, x);
          right = std::max(right, x + 1);
          top = std::min(top, y);
          bottom = y + 1;
        }
      }
    }
    std::printf("ink %s %d %d %d %d\n", name.c_str(), left, top, right, bottom);
  }

  Ogre::SceneManager * manager_;
  std::vector<ShownText> texts_;
  std::vector<std::unique_ptr<BillboardLine>> lines_;
  std::vector<std::unique_ptr<PointCloud>> clouds_;
  std::vector<std::unique_ptr<Shape>> shapes_;
};

}  // namespace

int main(int argc, char ** argv)
{
  if (argc < 2 || (argc - 2) % 4 != 0) {
    std::fprintf(stderr, "usage: draw_markers DISTANCE [SCENE PICTURE.png WIDTH HEIGHT]...\n");
    return 2;
  }
  rviz_rendering::RenderSystem::get();
  for (int k = 2; k < argc; k += 4) {
    std::ifstream file(argv[k]);
    Scene * scene = new Scene;  // all are there until the process ends
    for (std::string line; std::getline(file, line); ) {
      scene->add(line);
    }
    scene->draw(
      argv[k], argv[k + 1], std::strtof(argv[1], nullptr), std::atoi(argv[k + 2]),
      std::atoi(argv[k + 3]));
  }
  std::fflush(stdout);
  std::_Exit(0);
}
