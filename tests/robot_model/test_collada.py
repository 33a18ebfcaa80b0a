"""Meshes in Collada files."""

import numpy as np
import pytest

from gradiva.common import ModelError
from gradiva.robot_model import read_collada

BOX = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="sheet"><mesh>
    <source id="at"><float_array count="12">0 0 0  2 0 0  2 1 0  0 1 0</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#at"/></vertices>
    <polylist count="1"><input semantic="NORMAL" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/>
      <vcount>4</vcount><p>0 0 0 1 0 2 0 3</p></polylist>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene><node><translate>100 0 0</translate>
    <node><rotate>0 1 0 90</rotate><scale>2 2 2</scale><instance_geometry url="#sheet"/></node>
  </node></visual_scene></library_visual_scenes>
</COLLADA>"""


def test_units_and_nested_transformations_are_heeded_and_the_vertical_is_not(tmp_path):
    (tmp_path / "sheet.dae").write_text(BOX)
    vertices, faces = read_collada(tmp_path / "sheet.dae")
    expected = [[1.0, 0.0, 0.0], [1.0, 0.0, -0.04], [1.0, 0.02, -0.04], [1.0, 0.02, 0.0]]
    np.testing.assert_allclose(vertices, expected, atol=1e-12)
    np.testing.assert_array_equal(faces, [[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(("text", "message"), [("<", "is no valid Collada file"), ("<COLLADA/>", "shows no geometry")])
def test_what_is_no_mesh_is_named(tmp_path, text, message):
    (tmp_path / "bad.dae").write_text(text)
    with pytest.raises(ModelError, match=message):
        read_collada(tmp_path / "bad.dae")
